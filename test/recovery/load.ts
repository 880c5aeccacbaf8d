import { setTimeout as sleep } from "node:timers/promises";
import { say, type clientOf } from "../http/service.ts";

/** Requests a turn of the echo model, and measures. */
export async function askTurn(call: ReturnType<typeof clientOf>) {
  const began = performance.now();
  const { status, headers } = await call("POST", "/chat/completions", say("Hello"));
  return { status, retry_after: headers.get("retry-after"), seconds: (performance.now() - began) / 1_000 };
}

/** Requests a turn five times a second, without waiting for the ones before. */
export async function load(call: ReturnType<typeof clientOf>, seconds: number) {
  const asked: ReturnType<typeof askTurn>[] = [];
  for (let n = 0; n < seconds * 5; n++) {
    asked.push(askTurn(call));
    await sleep(200);
  }
  return Promise.all(asked);
}

/** Figures for the table in docs/reliability.md. */
export function printFigures(what: string, answers: Awaited<ReturnType<typeof load>>): void {
  const refused = answers.filter(({ status }) => status !== 200).length;
  const slowest = Math.max(...answers.map(({ seconds }) => seconds)).toFixed(1);
  console.log(`${what}: ${answers.length} turns, ${refused} refused, slowest ${slowest} s`);
}
