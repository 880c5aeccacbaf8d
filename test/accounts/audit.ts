import { clientOf } from "../http/service.ts";

export interface Shown {
  position: number;
  stream: string;
  type: string;
  principal: string;
  data: any;
  personal: any;
  erased: boolean;
}

/** Events by SSE as they come, until the connection is cut or the other side ends it. */
export async function listen(url: string, token: string, headers: Record<string, string> = {}) {
  const cut = new AbortController();
  const answer = await fetch(url, {
    headers: { authorization: `Bearer ${token}`, accept: "text/event-stream", ...headers },
    signal: cut.signal,
  });
  let text = "";
  const heard = (): Shown[] =>
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
    heard,
    raw: () => text,
    /** Resolves when the other side has ended it, too. */
    ended,
    async close() {
      cut.abort();
      await ended;
    },
  };
}

/** Everything of an organization's log by plain requests, page by page. */
export async function everything(call: ReturnType<typeof clientOf>, query = "limit=500"): Promise<Shown[]> {
  const all: Shown[] = [];
  for (let after = 0; ; ) {
    const { body } = await call("GET", `/events?${query}&after=${after}`);
    all.push(...body.data);
    if (!body.has_more) return all;
    after = body.next_after;
  }
}
