import { beforeEach, describe, expect, test } from "vitest";
import { startAgents, TOOL } from "./agents.ts";

const agents = await startAgents();
const agent = await agents.open({ model: "openai/gpt-test" });
beforeEach(() => agents.answers());

const asked = () => agents.asked().messages.map(({ role, content }: any) => `${role}: ${content}`);
const message = ({ output }: any) => output.findLast(({ type }: any) => type === "message");
const reference = (response: any) => ({ type: "item_reference", id: message(response).id });
const user = (content: string) => ({ role: "user", content });

describe("a reference to an item of an earlier response", () => {
  test("is replaced by the answer, at its place", async () => {
    const first = await agent.ask("I am Ada");
    const second = await agent.ask([user("I am Ada"), reference(first), user("Who am I?")]);
    expect(asked()).toEqual(["user: I am Ada", "assistant: I am Ada", "user: Who am I?"]);
    expect(second.thread_id).not.toBe(first.thread_id);
    await agent.stream([user("a"), reference(first), user("b"), reference(second), user("c")]);
    expect(asked()).toEqual(["user: a", "assistant: I am Ada", "user: b", "assistant: Who am I?", "user: c"]);
  });

  test("works with the id that an earlier release gave the first message", async () => {
    const first = await agent.ask("I am Ada");
    const { turn } = /^resp_(?<turn>.+)$/.exec(first.id)!.groups as { turn: string };
    const numbered = `msg_${turn.slice(0, 14)}8${turn.slice(15, -3)}000`;
    await agent.ask([{ type: "item_reference", id: numbered }, user("x")]);
    expect(asked()).toEqual(["assistant: I am Ada", "user: x"]);
  });

  test("that is repeated, or already in the continued thread, adds nothing", async () => {
    const first = await agent.ask("I am Ada");
    await agent.ask([reference(first), reference(first), user("x")]);
    expect(asked()).toEqual(["assistant: I am Ada", "user: x"]);
    await agent.ask([reference(first), user("y")], { previous_response_id: first.id });
    expect(asked()).toEqual(["user: I am Ada", "assistant: I am Ada", "user: y"]);
  });

  test("is limited to 500 per request", async () => {
    const first = await agent.ask("I am Ada");
    const more = (count: number) =>
      Array.from({ length: count }, (_, n) => ({ type: "item_reference", id: `msg_${n}` }));
    await agent.ask([...more(499), reference(first), user("x")]);
    expect(asked()).toEqual(["assistant: I am Ada", "user: x"]);
    const { status, body } = await agent.post({ input: [...more(500), reference(first), user("x")] });
    expect([status, body.error]).toMatchObject([400, { code: "invalid_input", param: "input" }]);
    expect(body.error.message).toContain("501 items");
  });

  test("to a deleted item, an item of another kind, or one of another user, agent or key is skipped", async () => {
    const other = await agents.open({ model: "openai/gpt-test" });
    const adas = await agent.ask("secret", { user: "ada" });
    const others = await other.ask("secret");
    const gone = await agent.ask("secret");
    await agent.call("DELETE", `/responses/${gone.id}`);
    const tools = await agents.open({ tools: [TOOL] });
    const { output } = await tools.ask(`/tool ${TOOL} {}\n/say secret`);
    expect(output[0].type).toBe("function_call");
    const ids = [message(adas).id, message(others).id, message(gone).id, output[0].id, "msg_1", gone.id, 7, null];
    const references = ids.map((id) => ({ type: "item_reference", id }));
    await agent.ask([...references, user("x")]);
    expect(asked()).toEqual(["user: x"]);
    const { body } = await agent.post({ input: [...references, user("x"), { role: "odd" }] });
    expect(body.error.param).toBe(`input[${references.length + 1}].role`);
  });
});

test("the first message of a response has the same UUID buffered, streamed, stored and as an input of the next response", async () => {
  const idOf = (response: any) => response.id.replace("resp_", "msg_");
  const first = await agent.ask("One");
  expect(message(first).id).toBe(idOf(first));
  expect(message((await agent.call("GET", `/responses/${first.id}`)).body).id).toBe(idOf(first));
  const { response: second } = await agent.stream("Two", { previous_response_id: first.id });
  expect(message(second).id).toBe(idOf(second));
  const { body } = await agent.call("GET", `/responses/${second.id}/input_items`);
  expect(body.data.find(({ role }: any) => role === "assistant").id).toBe(idOf(first));
});

test("an answer that is sent again after a tool result keeps the id of its message", async () => {
  const tools = await agents.open({ tools: [TOOL] });
  const first = await tools.ask(`/reason Let me look.\n/tool ${TOOL} {}\n/say Found.`);
  const { call_id } = first.output.find(({ type }: any) => type === "function_call");
  const again = await tools.ask([{ type: "function_call_output", call_id, output: "{}" }]);
  expect(again.output).toEqual([message(first)]);
});
