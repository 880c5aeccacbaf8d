import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { createStreamLimits } from "../base/streamLimits.ts";
import { completionRoute } from "./completions.ts";

type Handler = (request: object, reply: object) => Promise<unknown>;

test("a request beyond the limit of its organization is refused before its turn is looked up or started", async () => {
  let answer: Handler | undefined;
  const app = { post: (_path: string, _options: object, handler: Handler) => void (answer = handler) };
  const streams = createStreamLimits({ turnRequests: 1 });
  completionRoute(app as never, { streams } as never);
  const request = { caller: { organization_id: "o" } };
  const openReply = () => ({ request, raw: Object.assign(new EventEmitter(), { destroyed: false }) });

  const first = openReply();
  streams.countTurnRequest(first as never);
  await expect(answer!(request, openReply())).rejects.toMatchObject({ status: 429, errorCode: "rate_limited" });
  first.raw.emit("close");
  // goes on to the body, which this request does not have
  await expect(answer!(request, openReply())).rejects.toThrow(TypeError);
});
