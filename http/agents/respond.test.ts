import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { createStreamLimits } from "../base/streamLimits.ts";
import { respond } from "./respond.ts";

test("a request beyond the limit of its organization is refused before its turn is looked up or started", async () => {
  const streams = createStreamLimits({ turnRequests: 1 });
  const request = {
    caller: { organization_id: "o", principal: `key:${newId()}` },
    agent: { id: newId(), client_tools: false },
  };
  const openReply = () => ({ request, raw: Object.assign(new EventEmitter(), { destroyed: false }) });
  const send = (reply: object) =>
    respond({ streams } as never, request as never, reply as never, { input: "Hello" } as never);

  const first = openReply();
  streams.countTurnRequest(first as never);
  await expect(send(openReply())).rejects.toMatchObject({ status: 429, errorCode: "rate_limited" });
  first.raw.emit("close");
  // goes on to the headers, which this request does not have
  await expect(send(openReply())).rejects.toThrow(TypeError);
});
