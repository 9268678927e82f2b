// One page, again and again, by k6: URL and THINK_S say which and how often.
import http from "k6/http";
import { check, sleep } from "k6";

const thinkS = Number(__ENV.THINK_S);

export const options = {
  discardResponseBodies: true,
  noCookiesReset: true,
  // An answer that is no 200 ends the run with another exit code.
  thresholds: { checks: ["rate>=1"] },
};

export default function () {
  if (thinkS > 0 && __ITER === 0) {
    sleep(Math.random() * thinkS);
  }
  const answer = http.get(__ENV.URL);
  check(answer, { "the status is 200": (each) => each.status === 200 });
  if (thinkS > 0) {
    sleep(thinkS);
  }
}
