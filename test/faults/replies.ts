import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Reply } from "../doubles/openai.ts";
import { frame } from "../doubles/openai/reply.ts";

export const piece = (delta: unknown, finish_reason: string | null = null): string =>
  frame({ choices: [{ index: 0, delta, finish_reason }] });
export const words = (content: string): string => piece({ content });
export const FINISH = piece({}, "stop");
export const DONE = "data: [DONE]\n\n";

type Writing = (response: ServerResponse) => void | Promise<void>;
const answering = (type: string, write: Writing): Reply => ({
  write(response) {
    response.writeHead(200, { "content-type": type });
    return write(response);
  },
});

/** A stream with these texts and a proper end. */
export const streaming = (...said: (string | Buffer)[]): Reply =>
  answering("text/event-stream", (response) => {
    for (const one of said) response.write(one);
    response.end();
  });

/** A stream or a body with these texts whose connection then breaks. */
export const cutAfter = (type: string, ...said: string[]): Reply =>
  answering(type, async (response) => {
    for (const one of said) response.write(one);
    // a reset may overtake what was just written
    await sleep(100);
    response.destroy();
  });

/** Sends these texts and then stays silent. */
export const silentAfter = (...said: string[]): Reply =>
  answering("text/event-stream", (response) => {
    response.flushHeaders();
    for (const one of said) response.write(one);
  });

/** Repeats the same text until the client disconnects. */
export const endless = (type: string, first: string, again: string, pause_ms = 0): Reply =>
  answering(type, async (response) => {
    response.write(first);
    while (!response.destroyed) {
      if (!response.write(again)) await sleep(1);
      if (pause_ms > 0) await sleep(pause_ms);
    }
  });

export const hung: Reply = { write: () => {} };
export const reset: Reply = { write: (response) => void response.destroy() };
