import type { QueryClient } from "@tanstack/react-query";
import { address } from "./call.ts";
import { getSession } from "./queries.ts";

/** One event of the organization, without its content. */
interface Change {
  cursor: string;
  /** The kind of thing: the first word of query keys. */
  kind: string;
  id: string;
  type: string;
}

/** By kind of thing: the first words of the query keys that also show it. */
const ALSO_IN: Readonly<Record<string, readonly string[]>> = {
  // both add models, which agents and chats choose from
  provider: ["agent"],
  alias: ["agent", "provider"],
  // the person's own name and role
  organization: ["session"],
};

const NAME = "console-changes";
/** Changes come in bursts, and each burst causes one read. */
const BURST_MS = 200;
const RETRY_MS = 3_000;
/** The message from the receiving tab to the others after changes were missed. */
const MISSED = "missed";
/** Maximum wait for the answers of a burst. Slower ones do not delay the next burst. */
const PATIENCE_MS = 10_000;

interface Listener {
  onChange(change: Change): void;
  /** Cached data may be out of date, because changes until now were not received. */
  onOpen(): void;
  /** The connection was lost. */
  onBreak(): void;
}

/** Receives changes until the signal is aborted. Reconnects by itself without missing any. */
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

/** Only one of the visible tabs receives, because browsers open at most six connections to a host. Without locks (plain http) each tab receives. */
const lead = (listener: Listener, signal: AbortSignal): Promise<unknown> =>
  "locks" in navigator
    ? navigator.locks.request(NAME, { signal }, () => receive(listener, signal)).catch(() => {})
    : receive(listener, signal);

/** Reads the visible data again, one burst after the other, so that the next change does not abort a slow answer again and again. */
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
    note({ kind, type }: Change) {
      for (const name of [kind, ...(ALSO_IN[kind] ?? [])]) kinds.add(name);
      // the keys of all queries about approvals begin with "run"
      if (type.startsWith("ToolApproval")) kinds.add("run");
      // every change is also an event of the log
      kinds.add("log");
      if (!isReading) flushing ||= window.setTimeout(() => void flush(), BURST_MS);
    },
    end() {
      isOver = true;
      window.clearTimeout(flushing);
    },
  };
}

/** Keeps the visible data up to date while the tab is visible. Returns the function that ends it. */
export function followChanges(queries: QueryClient): () => void {
  const channel = new BroadcastChannel(NAME);
  const bursts = createBursts(queries);
  let leading: AbortController | undefined;

  const readAgain = () => void queries.invalidateQueries();
  // the service is unavailable, or the session has ended
  const onBreak = () => void queries.invalidateQueries(getSession);
  const onChange = (change: Change) => {
    bursts.note(change);
    channel.postMessage(change);
  };
  // no tab has received changes since the leading tab closed
  const onOpen = () => {
    readAgain();
    channel.postMessage(MISSED);
  };
  channel.addEventListener("message", ({ data }: MessageEvent<Change | typeof MISSED>) => {
    if (data !== MISSED) bursts.note(data);
    // a hidden tab reads everything again when it becomes visible
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
    // while it was hidden, the tab received no changes
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
