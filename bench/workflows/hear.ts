import type { Dispatcher } from "undici";

export interface Told {
  /** When the event was heard (`performance.now()`); rejects when the stream ends without it or tells that the run has failed. */
  heard: Promise<number>;
}

/** Opens a run's stream of events and listens for one; settles when the stream is open. */
export const hear = async (client: Dispatcher, url: URL, key: string, event: string): Promise<Told> => {
  const { statusCode, body } = await client.request({
    origin: url.origin,
    path: url.pathname,
    method: "GET",
    headers: { authorization: `Bearer ${key}`, accept: "text/event-stream" },
  });
  if (statusCode !== 200) throw new Error(`${url.pathname} answered ${statusCode}: ${await body.text()}`);
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let text = "";
  body.setEncoding("utf8");
  body.on("data", (chunk: string) => {
    const frames = (text + chunk).split("\n\n");
    text = frames.pop() ?? "";
    for (const frame of frames) {
      if (frame.includes(`event: ${event}\n`)) resolve(performance.now());
      if (event !== "run.failed" && frame.includes("event: run.failed\n")) reject(new Error(`a run failed: ${frame}`));
    }
  });
  body.once("end", () => reject(new Error(`${url.pathname} ended without ${event}`)));
  body.once("error", reject);
  return { heard: promise };
};
