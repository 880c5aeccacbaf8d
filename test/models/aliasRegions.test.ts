import { expect, test } from "vitest";
import { openPeople } from "../accounts/people.ts";
import { clientOf, say } from "../http/service.ts";

test("a process asks the targets of its own region first, and an alias shows the regions of its targets", async () => {
  const { owner, service } = await openPeople({ REGION: "eu" });
  const key = clientOf(service, service.credentials.api_key);
  const targets = [
    { model: "offline/scripted", region: "us" },
    { model: "offline/echo", region: "eu" },
  ];
  expect((await owner("PUT", "/aliases/near", { targets })).body).toMatchObject({ alias: "near", targets });
  expect((await key("POST", "/chat/completions", say("Near", { model: "near" }))).body.model).toBe("offline/echo");
  const far = { targets: targets.map(({ model }) => ({ model, region: "asia" })) };
  await owner("PUT", "/aliases/far", far);
  const { body } = await key("POST", "/chat/completions", say("/say Far", { model: "far" }));
  expect(body.model).toBe("offline/scripted");
  const { status, body: refused } = await owner("PUT", "/aliases/bad", {
    targets: [{ model: "offline/echo", region: "EU West" }],
  });
  expect([status, refused.error.param]).toEqual([400, "targets[0].region"]);
});
