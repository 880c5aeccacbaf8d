import { expect, test } from "vitest";
import { openClocks } from "../../dev/crash/faults/clocks.ts";
import { startProcess } from "../faults/processes.ts";
import { testFolder } from "../harness.ts";
import { clientOf, say } from "../http/service.ts";
import { startPlatform, testDeployment } from "../platform.ts";

const preload = new URL("../../dev/crash/preload/clock.ts", import.meta.url).href;
/** The clocks are compared every two seconds. */
const AHEAD_MS = 8_000;

test("an http process whose clock is an hour ahead refuses writes and reports it in /readyz, and accepts them once it is right", async () => {
  const deployment = await testDeployment();
  const platform = await startPlatform({ roles: ["services", "projections"], deployment });
  const clocks = openClocks(await testFolder());
  const http = await startProcess("http", deployment, {
    ...clocks.settings("http"),
    NODE_OPTIONS: `--import ${preload}`,
  });
  const { api_key } = await platform.organization();
  const call = clientOf({ chat: `${http.url}/api/openai/v1` }, api_key);
  const ask = () => call("POST", "/chat/completions", say("Hello"));
  const clock = async () => {
    const answer = await fetch(`${http.url}/readyz`);
    return [answer.status, JSON.stringify(await answer.json())];
  };
  expect((await ask()).status).toBe(200);

  const shifted = clocks.shift("http", 1, AHEAD_MS);
  await expect.poll(async () => (await ask()).status, { timeout: AHEAD_MS }).toBe(503);
  expect(Number((await ask()).headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await clock()).toEqual([503, expect.stringContaining('"clock":{"ok":false')]);
  await shifted;
  await expect.poll(async () => (await ask()).status).toBe(200);
  expect(await clock()).toEqual([200, expect.stringContaining('"clock":{"ok":true')]);
});
