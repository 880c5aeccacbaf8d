import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { createStreamLimits } from "../base/streamLimits.ts";
import { respond } from "./respond.ts";

const AGENT = {
  id: newId(),
  version: 1,
  model: "offline/echo",
  instructions: "",
  tools: [],
  collections: null,
  reasoning_effort: null,
  project_id: null,
  expose_tool_items: true,
  client_tools: false,
  tool_approvals: {},
};

test("a stream that would keep too many bytes of its request is refused before its turn starts", async () => {
  const streams = createStreamLimits({ keptBytes: { total: 1_000_000, perOwner: 300_000 } });
  const openReply = () => {
    const caller = { organization_id: "o", principal: `key:${newId()}` };
    const request = { caller, agent: AGENT, headers: {}, bodyHash: "hash" };
    return { request, raw: Object.assign(new EventEmitter(), { destroyed: false }) };
  };
  const send = (instructions: string) => {
    const reply = openReply();
    const body = { input: "Hello", instructions, stream: true };
    return respond({ streams } as never, reply.request as never, reply as never, body);
  };
  const open = openReply();
  streams.countKept(open as never, 200_000);
  await expect(send("x".repeat(200_000))).rejects.toMatchObject({ status: 429, errorCode: "too_many_bytes" });
  // these go on to the model, which this service does not have
  await expect(send("short")).rejects.toThrow(TypeError);
  open.raw.emit("close");
  await expect(send("x".repeat(200_000))).rejects.toThrow(TypeError);
});

test("a request beyond the limit of its organization is refused before its turn is looked up or started", async () => {
  const streams = createStreamLimits({ turnRequests: 1 });
  const request = {
    caller: { organization_id: "o", principal: `key:${newId()}` },
    agent: { id: newId(), client_tools: false },
  };
  const openReply = () => ({ request, raw: Object.assign(new EventEmitter(), { destroyed: false }) });
  const send = (reply: object) => respond({ streams } as never, request as never, reply as never, { input: "Hello" });

  const first = openReply();
  streams.countTurnRequest(first as never);
  await expect(send(openReply())).rejects.toMatchObject({ status: 429, errorCode: "rate_limited" });
  first.raw.emit("close");
  // goes on to the headers, which this request does not have
  await expect(send(openReply())).rejects.toThrow(TypeError);
});
