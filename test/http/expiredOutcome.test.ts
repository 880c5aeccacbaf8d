import { expect, test } from "vitest";
import { clientOf, fileForm, say, startService } from "./service.ts";
import { ALONE } from "../sharedPlatform.ts";

const service = await startService(ALONE);
const call = clientOf(service, service.credentials.api_key);

/** As two days later, when the clean-up has removed the outcomes. */
const expireOutcomes = () => service.db.query("delete from log.commands");
const key = { "idempotency-key": "again-and-again" };

test("a chat under an Idempotency-Key whose outcome has expired starts a new thread without the first messages", async () => {
  const first = await call("POST", "/chat/completions", say("First"), key);
  await expireOutcomes();
  const second = await call("POST", "/chat/completions", say("Second"), key);
  expect([second.status, second.body.choices[0].message.content]).toEqual([200, "Second"]);
  expect(second.headers.get("x-thread-id")).not.toBe(first.headers.get("x-thread-id"));
  expect((await call("POST", "/chat/completions", say("Second"), key)).body).toEqual(second.body);
});

test("an upload under an Idempotency-Key whose outcome has expired stores another file", async () => {
  const upload = () => call("POST", "/files", fileForm("bytes"), key);
  const first = await upload();
  expect((await upload()).body).toEqual(first.body);
  await expireOutcomes();
  const second = await upload();
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.body.id).not.toBe(first.body.id);
  expect((await upload()).body).toEqual(second.body);
});
