import { expect, test } from "vitest";
import { expectRefused, openStepAttempts } from "./stepAttempts.ts";

/* A run acts for a person as long as that person is active in the organization. */

const platform = await openStepAttempts();
const mine = await platform.organization();
await mine.secret("shop_key", "sk-1");

const actingFor = async (id: string) => {
  const { attempt } = await mine.run({ secrets: ["shop_key"] }, null, { type: "person", id });
  return attempt();
};

test("steps of a run that acts for a deactivated person cannot use the platform until the person is reactivated", async () => {
  const { id } = await mine.member("builder", "runner");
  const step = await actingFor(id);
  expect(await step.secret("shop_key")).toBe("sk-1");
  await mine.made(mine.owner("PATCH", `/members/${id}`, { active: false }));
  await expectRefused(step.secret("shop_key"), "run_as_inactive", "no longer active in the organization");
  await expectRefused(step.fetch("https://example.org/"), "run_as_inactive", "no longer active");
  await expectRefused(
    step.call("chat", { model: "offline/echo", messages: [{ role: "user", content: "hi" }] }),
    "run_as_inactive",
    "no longer active",
  );
  await mine.made(mine.owner("PATCH", `/members/${id}`, { active: true }));
  expect(await step.secret("shop_key")).toBe("sk-1");
});

test("steps of a run that acts for a removed person, or a person of another organization, cannot use the platform", async () => {
  const gone = await mine.member("builder", "gone");
  const step = await actingFor(gone.id);
  expect(await step.secret("shop_key")).toBe("sk-1");
  await mine.made(mine.owner("DELETE", `/members/${gone.id}`));
  await expectRefused(step.secret("shop_key"), "run_as_inactive", "no longer active");
  const stranger = await (await platform.organization("Other")).member("builder", "stranger");
  await expectRefused((await actingFor(stranger.id)).secret("shop_key"), "run_as_inactive", "no longer active");
});
