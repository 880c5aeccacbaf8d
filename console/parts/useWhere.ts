import { useRouter } from "@tanstack/react-router";

/** Reads where the person is now, or on the way to. What takes a while leads nobody away who went elsewhere meanwhile. */
export function useWhere(): () => string {
  const router = useRouter();
  return () => {
    const { pathname, search } = router.latestLocation;
    return [pathname, (search as { fork?: string }).fork].join(" ");
  };
}
