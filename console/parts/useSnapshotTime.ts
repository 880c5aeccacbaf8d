import { useLocation } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { serviceNow } from "../api/serviceClock.ts";

/** The time of each entry of the browser's history. */
const times = new Map<string | undefined, string>();

const now = (): string => new Date(serviceNow()).toISOString();

/** The time at which a list is frozen, and a function that sets it to now. Going back restores the earlier rows at their positions. */
export function useSnapshotTime(): [until: string, renew: () => void] {
  const entry = useLocation({ select: ({ state }) => state.__TSR_key });
  const [until, setUntil] = useState(() => times.get(entry) ?? now());
  useEffect(() => void times.set(entry, until), [entry, until]);
  return [until, () => setUntil(now())];
}
