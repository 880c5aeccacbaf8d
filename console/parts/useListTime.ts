import { useLocation } from "@tanstack/react-router";
import { useEffect, useState } from "react";

/** Of each entry of the browser's history. */
const times = new Map<string | undefined, string>();

/** The moment as of which a list is shown, and what sets it to now. A step back shows the rows of then, so that they are at their place. */
export function useListTime(): [until: string, renew: () => void] {
  const entry = useLocation({ select: ({ state }) => state.__TSR_key });
  const [until, setUntil] = useState(() => times.get(entry) ?? new Date().toISOString());
  useEffect(() => void times.set(entry, until), [entry, until]);
  return [until, () => setUntil(new Date().toISOString())];
}
