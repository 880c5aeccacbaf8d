import { expect, test } from "vitest";
import { openWorkflows, SOON, workflowSource } from "./harness.ts";

/* Long prompts of turns that runs ask for count for what the organization may store. */

const w = await openWorkflows({ ORGANIZATION_MEGABYTES: "1" });

const STEPS = `chat: defineStep({ retries: 0 }, async ({ length }, ctx) =>
  ctx.chat({ model: "offline/scripted", messages: [{ role: "user", content: "/say ok\\n" + "x".repeat(length) }] }))`;

test("a run's turn with a long prompt is refused once its organization stores too much, and one with a short prompt is not", async () => {
  const { home } = w;
  const workflow = await home.register(workflowSource(`return ctx.complete(await ctx.runStep("chat", args));`, STEPS));
  const ask = async (length: number) => home.untilOver(await home.start(workflow, { length }));
  expect(await ask(700_000)).toMatchObject({ status: "completed" });
  const stored = "select coalesce(sum(stored_bytes), 0)::int as bytes from read.turns where organization_id = $1";
  const bytes = async () => (await w.resources.db.query<{ bytes: number }>(stored, [home.organization_id]))[0]!.bytes;
  await expect.poll(bytes, SOON).toBeGreaterThan(700_000);
  expect(await ask(700_001)).toMatchObject({
    status: "failed",
    error: expect.stringContaining("The prompt does not fit"),
  });
  expect(await ask(1_000)).toMatchObject({ status: "completed" });
});
