"""Keys that have to be looked at, each waiting at most once and worked on by one worker (client-go, ``workqueue``)."""
