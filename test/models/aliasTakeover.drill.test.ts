import { beforeAll, expect, test, vi } from "vitest";
import { startProcesses } from "../agents/deployment.ts";
import { clientOf } from "../http/service.ts";
import { holdAfter, startProviders } from "./providers.ts";

/* A worker is killed after a target of an alias has failed and while the next one is asked. */

let processes: Awaited<ReturnType<typeof startProcesses>>;
let models: Awaited<ReturnType<typeof startProviders>>;
beforeAll(async () => {
  models = await startProviders();
  processes = await startProcesses(models.env);
}, 90_000);

test("after a worker is lost, another continues with the next target, and the lost request counts once", async () => {
  const { openai: first, anthropic: second } = models.providers;
  const { person, home, api_key } = processes;
  const targets = [{ model: first.model }, { model: second.model }];
  expect((await person.call("PUT", "/aliases/fast", { targets })).status).toBe(200);
  first.reply({ status: 500, body: first.dialect.errorBody(500, "Broken.") });
  const held = holdAfter(second);
  const chat = clientOf({ chat: `${home.url}/api/openai/v1` }, api_key);
  const answer = chat("POST", "/chat/completions", { model: "fast", messages: [{ role: "user", content: "Hello" }] });
  await vi.waitFor(() => expect(held.open()).toBe(1), { timeout: 30_000 });
  processes.worker.kill();
  second.reply({ text: "The second." });
  await processes.start("services");

  const { id, ...answered } = (await answer).body;
  expect(answered).toMatchObject({ model: second.model, choices: [{ message: { content: "The second." } }] });
  const lost = answered.usage.prompt_tokens - 12;
  expect(lost).toBeGreaterThan(0);
  expect(first.prompts()).toHaveLength(1);
  const count = (type: string) => processes.count(type);
  expect([await count("TargetFailed"), await count("TurnTakenOver"), await count("TurnCompleted")]).toEqual([2, 1, 1]);
  const { failed_targets } = (await person.call("GET", `/turns/${id}/trace`)).body;
  expect(failed_targets.map(({ target, reason }: any) => [target, reason])).toEqual([
    [first.model, "500"],
    [second.model, "worker_lost"],
  ]);
  const { data } = (await person.call("GET", "/usage?group_by=model")).body;
  expect(data).toMatchObject([{ model: second.model, turns: 1, prompt_tokens: 12 + lost }]);
}, 90_000);
