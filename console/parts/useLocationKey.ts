import { useRouter } from "@tanstack/react-router";

/** Reads the person's current or next location, so that a slow action does not navigate a person who has left. */
export function useLocationKey(): () => string {
  const router = useRouter();
  return () => {
    const { pathname, search } = router.latestLocation;
    return [pathname, (search as { fork?: string }).fork].join(" ");
  };
}
