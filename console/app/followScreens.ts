import type { RegisteredRouter } from "@tanstack/react-router";

/**
 * The keyboard goes on in a screen that was just opened, and screen readers say that it was: the focus leaves the navigation, or
 * the link that is no longer there. Returns what ends it.
 */
export const followScreens = (router: RegisteredRouter): (() => void) =>
  router.subscribe("onRendered", ({ fromLocation, pathChanged }) => {
    const at = document.activeElement;
    const isLeft = at === null || at === document.body || at.closest(".navigation") !== null;
    if (fromLocation && pathChanged && isLeft)
      document.querySelector<HTMLElement>("#main")?.focus({ preventScroll: true });
  });
