"""One page, again and again, by Locust: PAGE and THINK_S say which and how often."""

import os
import random

import gevent
from locust import FastHttpUser, constant, task

PAGE = os.environ["PAGE"]
THINK_S = float(os.environ["THINK_S"])


class Visitor(FastHttpUser):
    """A user with a store of cookies of its own."""

    wait_time = constant(THINK_S)

    def on_start(self) -> None:
        """Begins at a moment of its own."""
        if THINK_S:
            gevent.sleep(random.uniform(0, THINK_S))

    @task
    def visit(self) -> None:
        """Fetches the page and checks its status."""
        with self.client.get(PAGE, catch_response=True) as answer:
            if answer.status_code != 200:
                answer.failure(f"status {answer.status_code}")
