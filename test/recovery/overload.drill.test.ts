import { expect, test } from "vitest";
import { startProcess } from "../faults/processes.ts";
import { expectSound } from "../faults/load.ts";
import { clientOf } from "../http/service.ts";
import { startPlatform, testDeployment } from "../platform.ts";
import { flood, type FloodAnswer } from "./flood.ts";
import { askTurn } from "./load.ts";

const { OVERLOAD_SECONDS } = process.env;
const SECONDS = Number(OVERLOAD_SECONDS ?? 10);
const MEASURED_MS = 4_000;
const CLIENTS = 16;
const TIMES = 5;
const MAX_RECOVERY_S = 10;
/** Turns in a row that must be as fast as before. */
const NORMAL = 10;

type Call = ReturnType<typeof clientOf>;
type Answer = Awaited<ReturnType<typeof askTurn>>;

/** Turns a second, with one request after the other by each client. */
async function measureCapacity(call: Call): Promise<{ perSecond: number; slowest: number }> {
  const until = performance.now() + MEASURED_MS;
  const answers: Answer[] = [];
  const run = async () => {
    while (performance.now() < until) answers.push(await askTurn(call));
  };
  await Promise.all(Array.from({ length: CLIENTS }, run));
  const slowest = Math.max(...answers.map(({ seconds }) => seconds));
  return { perSecond: (answers.length / MEASURED_MS) * 1_000, slowest };
}

/** How many ended how; the slowest of each in seconds. */
function countOutcomes(answers: FloodAnswer[]): Record<string, string> {
  const groups = Object.groupBy(answers, ({ status, broken }) => String(status ?? broken));
  const describe = (group: FloodAnswer[]) =>
    `${group.length}, slowest ${Math.max(...group.map(({ seconds }) => seconds)).toFixed(1)} s`;
  return Object.fromEntries(Object.entries(groups).map(([outcome, group]) => [outcome, describe(group!)]));
}

/** Seconds until turns in a row are answered no slower than before. */
async function untilNormal(call: Call, slowest: number): Promise<number> {
  const began = performance.now();
  for (let inRow = 0; inRow < NORMAL; ) {
    const { status, seconds } = await askTurn(call);
    inRow = status === 200 && seconds <= slowest ? inRow + 1 : 0;
  }
  return (performance.now() - began) / 1_000;
}

test("five times the maximum load is answered or refused cleanly, and the service recovers by itself", async () => {
  const deployment = await testDeployment();
  const observer = await startPlatform({ roles: [], deployment });
  const [, , http] = await Promise.all([
    startProcess("projections", deployment),
    startProcess("services", deployment),
    startProcess("http", deployment),
  ]);
  const { api_key } = await observer.organization();
  const call = clientOf({ chat: `${http.url}/api/openai/v1` }, api_key);
  await measureCapacity(call);
  const { perSecond, slowest } = await measureCapacity(call);

  const url = `${http.url}/api/openai/v1`;
  const flooding = await flood({
    url,
    api_key,
    perSecond: TIMES * perSecond,
    seconds: SECONDS,
  });
  const normal = await untilNormal(call, slowest);
  const answers = await flooding.answers;
  console.log(
    `${Math.round(TIMES * perSecond)} a second where ${Math.round(perSecond)} are possible`,
    countOutcomes(answers),
  );
  console.log(`as before ${normal.toFixed(1)} s after the end`);
  expect(normal).toBeLessThan(MAX_RECOVERY_S);

  const statuses = new Set(answers.map(({ status }) => status));
  expect([200, 429, 503]).toEqual(expect.arrayContaining([...statuses]));
  expect(answers.filter(({ status, retry_after }) => status !== 200 && !retry_after)).toEqual([]);
  await expectSound(observer.resources, []);
});
