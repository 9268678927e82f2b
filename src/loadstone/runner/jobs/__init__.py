"""Jobs on a cluster as a load: each operation submits one, sees it through, and tells its times."""
