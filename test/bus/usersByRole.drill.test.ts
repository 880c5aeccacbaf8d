import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import type { FeedEvent } from "#events/published.ts";
import { clientOf, say } from "../http/service.ts";
import { startPlatform, testDeployment } from "../platform.ts";
import { startServerWithUsers } from "./users.ts";

test("three processes with their roles' users serve a turn, a stop and the feed without a permission error", async () => {
  const own = await startServerWithUsers();
  const deployment = await testDeployment();
  const startAs = (role: "http" | "services" | "projections", password: string) => {
    const addresses = { ...deployment.addresses, nats_url: own.urlOf(role, password) };
    return startPlatform({ roles: [role], deployment: { ...deployment, addresses, prefix: "svc" } });
  };
  // http first: it creates the streams
  const projections = await startAs("projections", "p");
  const [http, services] = [await startAs("http", "h"), await startAs("services", "s")];
  const { api_key } = await services.organization();
  const send = clientOf({ chat: `${http.url}/api/openai/v1` }, api_key);
  const answer = await send("POST", "/chat/completions", say("hello"));
  expect(answer.body.choices[0].message.content).toContain("hello");
  expect((await send("POST", "/chat/completions", say("hello", { stream: true }))).text).toContain("[DONE]");

  const [organization, turn] = [newId(), newId()];
  services.resources.bus.frames.publish(organization, turn, { kind: "text", text: "x" } as never);
  await expect.poll(() => http.resources.bus.frames.loadFrames(organization, turn)).toHaveLength(1);
  const stopped = Promise.withResolvers<string>();
  services.resources.bus.frames.onStop(organization, turn, stopped.resolve);
  http.resources.bus.frames.requestStop(organization, turn);
  expect(await stopped.promise).toBe("stopped");

  await http.resources.bus.checkDelivery();
  await expect
    .poll(async () => (await services.resources.bus.feed.last()) as FeedEvent)
    .toMatchObject({ type: "TurnCompleted" });
  await services.resources.bus.clearFrames();
  for (const { resources } of [http, services, projections])
    expect((await resources.bus.health()).connected).toBe(true);
  expect(await own.readLog()).not.toMatch(/violation/i);
});
