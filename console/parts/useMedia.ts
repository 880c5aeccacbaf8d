import { useCallback, useSyncExternalStore } from "react";

/** The width of a phone. */
export const NARROW = "(max-width: 640px)";

/** Whether the window currently matches a media query. */
export function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (onChange: () => void) => {
      const media = window.matchMedia(query);
      media.addEventListener("change", onChange);
      return () => media.removeEventListener("change", onChange);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => window.matchMedia(query).matches);
}
