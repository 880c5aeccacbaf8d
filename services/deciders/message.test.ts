import { expect, test } from "vitest";
import { MessageDelivered, MessagePosted } from "#events/message.ts";
import { command, given } from "#test/given.ts";
import { message } from "./message.ts";

const reach = { message_id: "m1", project_id: null };
const content = { name: "paid", data: { json: "{}" } };
const posted = MessagePosted.of(reach, content);
const close = command("CloseMessage", { message_id: "m1", reached: 2 });
const delivered = MessageDelivered.of({ message_id: "m1", reached: 2 });

test("a message is open work until it is delivered, once, and its content is destroyed then", () => {
  given(message)
    .when(command("PostMessage", { ...reach, ...content }))
    .then(posted);
  expect(message.workStatus!(given(message, [posted]).state)).toMatchObject({ status: "delivering", worker: null });
  given(message, [posted]).when(close).then(delivered);
  given(message, [posted, delivered]).when(close).then();
  expect(message.workStatus!(given(message, [posted, delivered]).state).status).toBeNull();
  expect(message.erases!([delivered], "message-m1")).toEqual({ things: ["message-m1"] });
});
