import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { say } from "../http/service.ts";
import type { Flood, FloodAnswer } from "./flood.ts";

/** Requests are sent in groups. */
const TICK_MS = 50;

const BODY = JSON.stringify(say("Hello"));

function ask(agent: Agent, { url, api_key }: Flood): Promise<FloodAnswer> {
  const began = performance.now();
  const since = () => (performance.now() - began) / 1_000;
  const headers = { authorization: `Bearer ${api_key}`, "content-type": "application/json" };
  return new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException): void =>
      resolve({ status: undefined, retry_after: undefined, seconds: since(), broken: error.code ?? error.message });
    const sent = request(`${url}/chat/completions`, { agent, method: "POST", headers }, (response) => {
      const { statusCode: status, headers: answered } = response;
      response
        .once("error", fail)
        .once("end", () => resolve({ status, retry_after: answered["retry-after"], seconds: since() }));
      response.resume();
    });
    sent.once("error", fail).end(BODY);
  });
}

/** Sends so many requests a second, whether or not there are answers. */
async function run(flood: Flood): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  const sent: Promise<FloodAnswer>[] = [];
  const began = performance.now();
  for (let elapsed = 0; elapsed < flood.seconds; elapsed = (performance.now() - began) / 1_000) {
    while (sent.length < elapsed * flood.perSecond) sent.push(ask(agent, flood));
    await sleep(TICK_MS);
  }
  parentPort!.postMessage(undefined);
  parentPort!.postMessage(await Promise.all(sent));
  agent.destroy();
}

await run(workerData as Flood);
