"""What a run may call back, below both training and tuning: callbacks, loggers, stoppers, progress
reporters.
"""
