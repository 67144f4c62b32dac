"""A type that scripts for Ray name in annotations."""


class ActorHandle:
    """Stands in annotations of scripts for Ray, such as that of ``DataConfig.configure``. Headway
    has no actors, so there are no objects of it.

    Example:
        >>> from headway.actor import ActorHandle
        >>> def configure(worker_handles: list[ActorHandle] | None):
        ...     assert worker_handles is None
    """
