/* In place of the real one: test_torch_headers.py. */
