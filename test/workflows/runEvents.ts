import { expect } from "vitest";
import type { Tenant } from "./tenant.ts";

/* The events of a run, as its stream sends them. */

export interface ReceivedEvent {
  id: number | undefined;
  event: string;
  data: any;
}
const parse = (text: string): ReceivedEvent[] =>
  text
    .split("\n\n")
    .filter((frame) => frame !== "" && !frame.startsWith(":"))
    .map((frame) => {
      const fields = Object.fromEntries(frame.split("\n").map((line) => line.split(/: (.*)/s).slice(0, 2)));
      return { id: fields.id && Number(fields.id), event: fields.event, data: JSON.parse(fields.data) };
    });

export interface ListenOptions {
  after?: number;
  /** Called with all that has come; when it answers true, the client leaves. */
  enough?: (received: ReceivedEvent[]) => boolean;
  url?: string;
}

/** Receives events until the server ends the stream, or until `enough` is true. */
export async function listenTo(
  tenant: Pick<Tenant, "url" | "token">,
  run: string,
  { after, enough, url = tenant.url }: ListenOptions = {},
): Promise<ReceivedEvent[]> {
  const connection = new AbortController();
  const answer = await fetch(`${url}/api/workflows/runs/${run}/events`, {
    headers: {
      authorization: `Bearer ${tenant.token}`,
      ...(after !== undefined && { "last-event-id": String(after) }),
    },
    signal: connection.signal,
  });
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
  let text = "";
  for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (enough?.(parse(text.slice(0, text.lastIndexOf("\n\n") + 2)))) {
      connection.abort();
      break;
    }
  }
  return parse(text.slice(0, text.lastIndexOf("\n\n") + 2));
}
