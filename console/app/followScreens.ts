import type { RegisteredRouter } from "@tanstack/react-router";

/**
 * Moves the focus into a screen that was just opened, and announces it to screen readers. Without this the focus would stay in the
 * navigation or on a link that no longer exists. Returns the function that ends it.
 */
export const followScreens = (router: RegisteredRouter): (() => void) =>
  router.subscribe("onRendered", ({ fromLocation, pathChanged }) => {
    const at = document.activeElement;
    const isLeft = at === null || at === document.body || at.closest(".navigation") !== null;
    if (fromLocation && pathChanged && isLeft)
      document.querySelector<HTMLElement>("#main")?.focus({ preventScroll: true });
  });
