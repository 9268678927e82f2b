// People who look at items and order one, for k6. The same for Loadstone: order.yaml.
//
//   python3 examples/http/shop.py &
//   k6 run examples/http/order.k6.js

import http from "k6/http";
import { check, sleep } from "k6";
import exec from "k6/execution";
import { SharedArray } from "k6/data";

export const options = { vus: 20, duration: "30s", noCookiesReset: true };
const base = "http://127.0.0.1:8080";
const people = new SharedArray("people", () => {
  const [header, ...rows] = open("people.csv").trim().split("\n").map((line) => line.split(","));
  return rows.map((row) => Object.fromEntries(header.map((name, at) => [name, row[at]])));
});
let csrf;

export default function () {
  const { username, password, page } = people[(exec.vu.idInTest - 1) % people.length];
  if (!csrf) {
    csrf = http.get(`${base}/login`).html().find("input[name=csrf_token]").attr("value");
    const home = http.post(`${base}/login`, { username, password, csrf_token: csrf });
    check(home, { welcome: (answer) => answer.body.includes("Welcome") });
  }
  const lists = [`${base}/items?page=${page}`, `${base}/api/items?page=${page}`];
  const items = http.batch(lists)[1].json("items");
  const item = items[Math.floor(Math.random() * items.length)].id;
  const headers = { "Content-Type": "application/json", "X-CSRFToken": csrf };
  const order = http.post(`${base}/api/orders`, JSON.stringify({ item, count: 1 }), { headers });
  check(order, { accepted: (answer) => answer.status === 201 && answer.json("state") === "accepted" });
  sleep(1 + 2 * Math.random());
}
