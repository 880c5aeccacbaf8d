import type { QueryClient } from "@tanstack/react-query";
import { address } from "./call.ts";
import { whoAmI } from "./queries.ts";

/** One event of the organization, without its words. */
interface Change {
  cursor: string;
  /** The kind of thing: the first word of query keys. */
  kind: string;
  id: string;
  type: string;
}

const NAME = "console-changes";
/** Changes come in bursts; each burst leads to one reading. */
const BURST_MS = 200;
const RETRY_MS = 3_000;
/** What the tab that receives tells the others when changes were missed. */
const MISSED = "missed";
/** An answer that takes longer holds up no later burst. */
const PATIENCE_MS = 10_000;

interface Listener {
  onChange(change: Change): void;
  /** What was read before may be out of date: changes until now were not received. */
  onOpen(): void;
  /** The connection broke. */
  onBreak(): void;
}

/** Receives changes until the signal is aborted; reconnects by itself, without missing any. */
function receive({ onChange, onOpen, onBreak }: Listener, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let source: EventSource;
    let last: string | undefined;
    let retry = 0;
    const open = () => {
      source = new EventSource(address("changes", { after: last }));
      if (last === undefined) source.addEventListener("open", onOpen, { once: true });
      source.addEventListener("change", ({ data }: MessageEvent<string>) => {
        const change = JSON.parse(data) as Change;
        last = change.cursor;
        onChange(change);
      });
      source.addEventListener("error", () => {
        onBreak();
        if (source.readyState === EventSource.CLOSED && !signal.aborted) retry = window.setTimeout(open, RETRY_MS);
      });
    };
    open();
    signal.addEventListener("abort", () => {
      window.clearTimeout(retry);
      source.close();
      resolve();
    });
  });
}

/** One of the visible tabs receives; browsers open only six connections to a host. Without locks (plain http) each tab does. */
const lead = (listener: Listener, signal: AbortSignal): Promise<unknown> =>
  "locks" in navigator
    ? navigator.locks.request(NAME, { signal }, () => receive(listener, signal)).catch(() => {})
    : receive(listener, signal);

/** Reads again what is shown, one burst after the other: a slow answer must not be cut off by the next change, again and again. */
function createBursts(queries: QueryClient) {
  const kinds = new Set<string>();
  let flushing = 0;
  let isReading = false;
  let isOver = false;

  const flush = async () => {
    flushing = 0;
    isReading = true;
    const names = [...kinds];
    kinds.clear();
    const read = Promise.all(names.map((name) => queries.invalidateQueries({ queryKey: [name] })));
    await Promise.race([read, new Promise((resolve) => window.setTimeout(resolve, PATIENCE_MS))]);
    isReading = false;
    if (kinds.size > 0 && !isOver) flushing ||= window.setTimeout(() => void flush(), BURST_MS);
  };
  return {
    // everything that changes is also an event of the log
    note({ kind, type }: Change) {
      kinds.add(kind);
      // approvals are shown with those of runs
      if (type.startsWith("ToolApproval")) kinds.add("run");
      kinds.add("log");
      if (!isReading) flushing ||= window.setTimeout(() => void flush(), BURST_MS);
    },
    end() {
      isOver = true;
      window.clearTimeout(flushing);
    },
  };
}

/** Keeps what is on screen up to date, while the tab is visible. Returns what ends it. */
export function followChanges(queries: QueryClient): () => void {
  const channel = new BroadcastChannel(NAME);
  const bursts = createBursts(queries);
  let leading: AbortController | undefined;

  const readAgain = () => void queries.invalidateQueries();
  // whether the service is away, or the session has ended
  const onBreak = () => void queries.invalidateQueries(whoAmI);
  const onChange = (change: Change) => {
    bursts.note(change);
    channel.postMessage(change);
  };
  // since the tab that led before closed, nobody has received anything
  const onOpen = () => {
    readAgain();
    channel.postMessage(MISSED);
  };
  channel.addEventListener("message", ({ data }: MessageEvent<Change | typeof MISSED>) => {
    if (data !== MISSED) bursts.note(data);
    // a hidden tab reads everything again once it is looked at
    else if (!document.hidden) readAgain();
  });

  const update = () => {
    if (document.hidden) {
      leading?.abort();
      leading = undefined;
    } else if (!leading) {
      leading = new AbortController();
      void lead({ onChange, onOpen, onBreak }, leading.signal);
    }
  };
  const wake = () => {
    // what happened while the tab was hidden was not received
    if (!document.hidden) readAgain();
    update();
  };
  document.addEventListener("visibilitychange", wake);
  update();
  return () => {
    document.removeEventListener("visibilitychange", wake);
    leading?.abort();
    bursts.end();
    channel.close();
  };
}
