import { useRouterState } from "@tanstack/react-router";

/** Says that a screen is on its way while the one before is still shown. */
export function Opening() {
  const isLoading = useRouterState({ select: ({ isLoading: is }) => is });
  return (
    <div role="status" className="opening">
      {isLoading && <span className="hidden-text">Opening the screen…</span>}
    </div>
  );
}
