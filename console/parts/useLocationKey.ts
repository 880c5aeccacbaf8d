import { useNavigate, useRouter, type NavigateOptions } from "@tanstack/react-router";

/** Parameters that select another item on the same screen. */
const ITEMS = ["fork", "section", "edit", "subject"];

/** Reads the person's current or next location, so that a slow action does not navigate a person who has left. */
export function useLocationKey(): () => string {
  const router = useRouter();
  return () => {
    const { pathname, search }: { pathname: string; search: object } = router.latestLocation;
    return JSON.stringify([pathname, ...ITEMS.map((name) => (search as Record<string, unknown>)[name])]);
  };
}

/** Runs a slow action and then leaves the screen, unless the person has left it meanwhile. */
export function useLeaveAfter(): (action: () => Promise<unknown>, to: NavigateOptions) => Promise<void> {
  const navigate = useNavigate();
  const where = useLocationKey();
  return async (action, to) => {
    const began = where();
    await action();
    if (where() === began) await navigate(to);
  };
}
