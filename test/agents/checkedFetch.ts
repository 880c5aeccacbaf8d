import { afterEach } from "vitest";
import { eventsIn, expectNumbered, expectStream } from "./grammar.ts";

const checks: Promise<unknown>[] = [];
afterEach(async () => {
  await Promise.all(checks.splice(0));
});

async function check(url: URL, whole: Response): Promise<void> {
  const after = url.searchParams.get("starting_after");
  const events = eventsIn(await whole.text());
  if (after === null) expectStream(events);
  else expectNumbered(events, Number(after) + 1);
}

/** The fetch of a client, with every stream of a response that it reads held against the grammar when the test has ended. */
export const checkedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  const url = new URL(input instanceof Request ? input.url : input);
  const streamed = response.headers.get("content-type")?.startsWith("text/event-stream");
  if (streamed && url.pathname.includes("/responses")) {
    const checking = check(url, response.clone());
    checking.catch(() => {});
    checks.push(checking);
  }
  return response;
};
