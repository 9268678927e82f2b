"""The scenario of a first experiment file, with what else one may say as comments."""

from __future__ import annotations

SCENARIO = """\
scenario:                   # what a user does; or the path of a file with it
  # people: users.csv       # user n has row n; its header names the values: ${username}
  # secrets:                # a password is never written, only where it is
  #   password: env:APP_PASSWORD
  think_time:               # of a user after each transaction
    distribution: negative-exponential
    mean_s: 1
  # log_in:                 # what a user does first, until it succeeds
  #   steps:
  #     - request: log-in form
  #       get: /login
  #       extract:
  #         csrf: {form: csrf_token}
  #     - request: log in
  #       post: /login
  #       form:
  #         username: ${username}
  #         password: ${password}
  #         csrf_token: ${csrf}
  #       expect:
  #         text: [Welcome]
  transactions:             # each is timed as a whole, from when it was due
    - name: front
      weight: 1             # twice as often as one of weight 0.5
      steps:
        - request: front page
          get: /
          expect:
            status: 200
            # text: [Welcome]     # an error page may have status 200, too
        # - parallel:       # at the same time, over connections of their own
        #     - request: style
        #       get: /static/site.css
        #     - request: data
        #       get: /api/items
        #       expect:
        #         json: {"$.items[0].id": 20}
"""
"""Its users ask for the application's base, as any application has it."""
PROFILE = {
    "load": "  load: closed                  # users who think, ask and wait; or open",
    "think_time": "  # think_time: 2s              # in place of that of the scenario",
    "rate_per_s": "  # rate_per_s: 100             # with load: open: transactions that become due "
    "each second",
    "drain": "  # drain: 10s                  # users leave one by one, and log out",
}
"""Field of the profile: its line, where the usual one says too little."""
