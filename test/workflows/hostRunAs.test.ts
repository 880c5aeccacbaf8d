import { afterAll, beforeAll, expect, test } from "vitest";
import { expectRefused, openHostDesk, type HostDesk } from "./hostDesk.ts";

/* A run acts for a person as long as that person is active in the organization. */

let desk: HostDesk;
let mine: Awaited<ReturnType<HostDesk["organization"]>>;
beforeAll(async () => {
  desk = await openHostDesk();
  mine = await desk.organization();
  await mine.secret("shop_key", "sk-1");
});
afterAll(() => desk.close());

const actingFor = async (id: string) => {
  const { attempt } = await mine.run({ secrets: ["shop_key"] }, null, { type: "person", id });
  return attempt();
};

test("steps of a run that acts for a deactivated person may ask nothing, from that moment on and until the person is back", async () => {
  const { id } = await mine.member("runner@example.org");
  const step = await actingFor(id);
  expect(await step.secret("shop_key")).toBe("sk-1");
  await mine.changeMember(id, { active: false });
  await expectRefused(step.secret("shop_key"), "run_as_inactive", "not active in the organization");
  await expectRefused(step.fetch("https://example.org/"), "run_as_inactive", "not active");
  await expectRefused(
    step.call("chat", { model: "offline/echo", messages: [{ role: "user", content: "hi" }] }),
    "run_as_inactive",
    "not active",
  );
  await mine.changeMember(id, { active: true });
  expect(await step.secret("shop_key")).toBe("sk-1");
});

test("neither may those of one that acts for somebody who was removed, or who is of another organization", async () => {
  const gone = await mine.member("gone@example.org");
  const step = await actingFor(gone.id);
  expect(await step.secret("shop_key")).toBe("sk-1");
  await mine.removeMember(gone.id);
  await expectRefused(step.secret("shop_key"), "run_as_inactive", "not active");
  const stranger = await (await desk.organization("Other")).member("stranger@example.org");
  await expectRefused((await actingFor(stranger.id)).secret("shop_key"), "run_as_inactive", "not active");
});
