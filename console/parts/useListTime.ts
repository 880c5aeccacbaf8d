import { useLocation } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { serviceNow } from "../api/serviceClock.ts";

/** Of each entry of the browser's history. */
const times = new Map<string | undefined, string>();

const now = (): string => new Date(serviceNow()).toISOString();

/** The moment as of which a list is shown, and what sets it to now. A step back shows the rows of then, so that they are at their place. */
export function useListTime(): [until: string, renew: () => void] {
  const entry = useLocation({ select: ({ state }) => state.__TSR_key });
  const [until, setUntil] = useState(() => times.get(entry) ?? now());
  useEffect(() => void times.set(entry, until), [entry, until]);
  return [until, () => setUntil(now())];
}
