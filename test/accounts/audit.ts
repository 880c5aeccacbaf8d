import { clientOf } from "../http/service.ts";

export interface AuditEvent {
  cursor: string;
  stream: string;
  type: string;
  principal: string;
  data: any;
  personal: any;
  erased: boolean;
  sealed_hash: string | null;
}

/** Receives events by SSE until the test closes the connection or the server ends it. */
export async function listen(url: string, token: string, headers: Record<string, string> = {}) {
  const connection = new AbortController();
  const answer = await fetch(url, {
    headers: { authorization: `Bearer ${token}`, accept: "text/event-stream", ...headers },
    signal: connection.signal,
  });
  let text = "";
  const received = (): AuditEvent[] =>
    text
      .slice(0, text.lastIndexOf("\n\n") + 2)
      .split("\n\n")
      .flatMap((frame) => /^data: (.*)$/m.exec(frame)?.slice(1) ?? [])
      .map((data) => JSON.parse(data));
  const ended = (async () => {
    for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) text += chunk;
  })().catch(() => {});
  return {
    status: answer.status,
    type: answer.headers.get("content-type"),
    received,
    raw: () => text,
    /** Resolves when either side has ended the stream. */
    ended,
    async close() {
      connection.abort();
      await ended;
    },
  };
}

/** All events of an organization, page by page. */
export async function readAllEvents(call: ReturnType<typeof clientOf>, query = "limit=500"): Promise<AuditEvent[]> {
  const all: AuditEvent[] = [];
  for (let after = ""; ; ) {
    const { body } = await call("GET", `/events?${query}&after=${after}`);
    all.push(...body.data);
    if (!body.has_more) return all;
    after = body.next_after;
  }
}
