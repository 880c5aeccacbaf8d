import { expect, test } from "vitest";
import { clientOf, fileForm } from "../http/service.ts";
import { startPlatform, testDeployment } from "../platform.ts";
import { askTurn } from "./load.ts";

/** The promise of docs/reliability.md. */
const PROMISED_SECONDS = 5;

test("without a services process writes are a 503 within 5 s without a later effect, and work continues once one is back", async () => {
  const deployment = await testDeployment();
  const services = await startPlatform({ roles: ["services"], deployment });
  const http = await startPlatform({ roles: ["http", "projections"], deployment });
  const { api_key } = await http.organization();
  const call = clientOf({ chat: `${http.url}/api/openai/v1` }, api_key);
  expect(await askTurn(call)).toMatchObject({ status: 200 });
  await services.stop();

  const began = performance.now();
  const upload = async () => {
    const { status, headers } = await call("POST", "/files", fileForm("words"));
    return { status, retry_after: headers.get("retry-after"), seconds: (performance.now() - began) / 1_000 };
  };
  const answers = await Promise.all([askTurn(call), askTurn(call), upload()]);
  console.log(`no services process: 503 after ${answers.map(({ seconds }) => seconds.toFixed(1)).join(", ")} s`);
  for (const { status, retry_after, seconds } of answers) {
    expect([status, retry_after]).toEqual([503, "1"]);
    expect(seconds).toBeLessThan(PROMISED_SECONDS);
  }

  await startPlatform({ roles: ["services"], deployment });
  await expect.poll(async () => (await askTurn(call)).status).toBe(200);
  const rows = await http.resources.db.query(
    "select type, count(*)::integer as n from log.events where type in ('TurnStarted', 'FileUploaded') group by 1",
    [],
  );
  expect(rows).toEqual([{ type: "TurnStarted", n: 2 }]);
});
