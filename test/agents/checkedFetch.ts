import { afterTest } from "../cleanUp.ts";
import { eventsIn, expectNumbered, expectStream } from "./grammar.ts";

async function check(url: URL, whole: Response): Promise<void> {
  const after = url.searchParams.get("starting_after");
  const events = eventsIn(await whole.text());
  if (after === null) expectStream(events);
  else expectNumbered(events, Number(after) + 1);
}

/** A fetch that checks every response stream against the grammar, when the test has ended. */
export const checkedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  const url = new URL(input instanceof Request ? input.url : input);
  const streamed = response.headers.get("content-type")?.startsWith("text/event-stream");
  if (streamed && url.pathname.includes("/responses")) {
    const checking = check(url, response.clone());
    checking.catch(() => {});
    afterTest(() => checking);
  }
  return response;
};
