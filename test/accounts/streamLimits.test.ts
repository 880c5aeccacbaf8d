import { expect, test } from "vitest";
import { say } from "../http/service.ts";
import { SOON } from "../soon.ts";
import { listen } from "./audit.ts";
import { openPeople } from "./people.ts";

test("a person's streams of the audit log are limited, and the open ones receive every event", async () => {
  const people = await openPeople();
  const { token } = await people.join("admin");
  const follow = () => listen(`${people.api}/events?type=TurnStarted`, token);
  const tails = await Promise.all(Array.from({ length: 50 }, follow));
  expect(tails.map(({ status }) => status)).toEqual(Array(50).fill(200));
  const refused = await fetch(`${people.api}/events`, {
    headers: { authorization: `Bearer ${token}`, accept: "text/event-stream" },
  });
  const { error } = (await refused.json()) as any;
  expect([refused.status, error.code, error.type]).toEqual([429, "too_many_streams", "rate_limit_error"]);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);

  for (let n = 0; n < 3; n++) await people.complete(say(`Turn ${n}`));
  await expect.poll(() => tails.map((tail) => tail.received().length), SOON).toEqual(Array(50).fill(3));
  await Promise.all(tails.map((tail) => tail.close()));
  const reopened = async () => {
    const tail = await follow();
    await tail.close();
    return tail.status;
  };
  await expect.poll(reopened, SOON).toBe(200);
});
