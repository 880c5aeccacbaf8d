import type { Profiler } from "node:inspector";

/** A callback of the event loop that computed for long. */
export interface HeldCallback {
  kind: string;
  /** Processor time without the garbage collector's and the kernel's. */
  own_ms: number;
  gc_ms: number;
  system_ms: number;
  /** Where it computed, the costliest first. */
  places: string[];
}

const PLACES = 4;
/** Samples come every millisecond. Of a longer gap only this much counts: in the rest the machine paused, and the processor's clock went on. */
const MAX_GAP_US = 10_000;
const ROOT = new URL("../../", import.meta.url).href;

/** Which functions of the repository a profile shows during a callback. */
export function nameSlowest(
  callback: { kind: string; user_ms: number; system_ms: number; from_us: number; to_us: number },
  { nodes, startTime, samples = [], timeDeltas = [] }: Profiler.Profile,
): HeldCallback {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const times = new Map<string, number>();
  let [at, gc_us, busy_us] = [startTime, 0, 0];
  samples.forEach((id, index) => {
    const gap = timeDeltas[index] ?? 0;
    at += gap;
    if (at < callback.from_us || at > callback.to_us) return;
    const delta = Math.min(gap, at - callback.from_us, MAX_GAP_US);
    const leaf = byId.get(id)!.callFrame.functionName;
    if (leaf === "(idle)") return;
    busy_us += delta;
    if (leaf === "(garbage collector)") gc_us += delta;
    const place = placeOf(id);
    times.set(place, (times.get(place) ?? 0) + delta);
  });

  function placeOf(leaf: number): string {
    const name = byId.get(leaf)!.callFrame.functionName || "(anonymous)";
    for (let id: number | undefined = leaf; id !== undefined; id = parents.get(id)) {
      const { url, functionName, lineNumber } = byId.get(id)!.callFrame;
      if (!url.startsWith(ROOT) || url.includes("/node_modules/")) continue;
      const own = `${functionName || "(anonymous)"} ${url.slice(ROOT.length)}:${lineNumber + 1}`;
      return id === leaf ? own : `${name} in ${own}`;
    }
    return name;
  }

  // samples are taken by the clock, which also counts other processes: only their share is used
  const gc_ms = busy_us === 0 ? 0 : (callback.user_ms * gc_us) / busy_us;
  const places = [...times].toSorted(([, a], [, b]) => b - a).slice(0, PLACES);
  return {
    kind: callback.kind,
    own_ms: Math.round(Math.min(callback.user_ms - gc_ms, (busy_us - gc_us) / 1_000)),
    gc_ms: Math.round(gc_ms),
    system_ms: Math.round(callback.system_ms),
    places: places.map(([place, us]) => `${Math.round((100 * us) / busy_us)} % ${place}`),
  };
}
