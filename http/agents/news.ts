import type { Speaking } from "#events/ports.ts";

/** Words that follow each other, or the calls of one round by their ids. */
interface Segment {
  type: "text" | "reasoning" | "calls";
  text: string;
}

/** What is new in a frame; undefined where it says something else than was told. */
export type News = Speaking[] | undefined;

/**
 * Sorts out what is new in the frames of a turn. Each attempt begins with what is recorded of those before it, which the
 * reader knows; they need not cut it into the same pieces, because a bus that died may have lost some.
 */
export function createNews() {
  const told: Segment[] = [];
  const ended = new Set<string>();
  let cited = 0;
  // how far the attempt at hand has come in what was told
  let attempt = 0;
  let at = { segment: 0, offset: 0 };
  let heard = 0;

  /** What of these words was not told yet. */
  function rest(type: Segment["type"], text: string): string | undefined {
    const last = told[at.segment];
    if (last && at.offset === last.text.length && (last.type !== type || type === "calls"))
      at = { segment: at.segment + 1, offset: 0 };
    const segment = told[at.segment];
    if (!segment) {
      told.push({ type, text });
      at = { segment: told.length - 1, offset: text.length };
      return text;
    }
    const known = segment.text.slice(at.offset, at.offset + text.length);
    const fresh = text.slice(known.length);
    const goesOn = at.segment === told.length - 1 && type !== "calls";
    if (segment.type !== type || !text.startsWith(known) || (fresh !== "" && !goesOn)) return undefined;
    segment.text += fresh;
    at.offset += text.length;
    return fresh;
  }

  /** Which round a call belongs to that ends now. */
  const round = (): number => told.slice(0, at.segment + 1).filter(({ type }) => type === "calls").length;

  function newsIn(frame: Speaking): News {
    switch (frame.type) {
      case "text":
      case "reasoning": {
        const text = rest(frame.type, frame.text);
        return text === undefined ? undefined : text === "" ? [] : [{ ...frame, text }];
      }
      case "calls": {
        const ids = rest("calls", JSON.stringify(frame.calls.map(({ id }) => id)));
        return ids === undefined ? undefined : ids === "" ? [] : [frame];
      }
      case "called": {
        const key = `${round()}/${frame.call}`;
        if (ended.has(key)) return [];
        ended.add(key);
        return [frame];
      }
      case "citations": {
        const citations = frame.citations.slice(Math.max(0, cited - heard));
        heard += frame.citations.length;
        cited += citations.length;
        return citations.length === 0 ? [] : [{ ...frame, citations }];
      }
    }
  }

  return (frame: Speaking, from: number): News => {
    if (from > attempt) {
      attempt = from;
      at = { segment: 0, offset: 0 };
      heard = 0;
    }
    return newsIn(frame);
  };
}
