import { useBlocker } from "@tanstack/react-router";
import { useRef } from "react";

/** Asked before words are lost that somebody typed. */
const ABOUT_WORDS = "Leave the page? What you wrote is not saved.";

/** Parameters that change which form is on a screen. Others filter what is beside it. */
const FORMS = ["section", "view", "edit"] as const;

interface Place {
  pathname: string;
  search: object;
}

const formsOf = ({ pathname, search }: Place): string =>
  JSON.stringify([pathname, ...FORMS.map((name) => (search as Record<string, unknown>)[name])]);

/** Asks before the page is left, or loaded again, while `wouldLose` says that something on it is not saved, or under way. */
export const useLeaveQuestion = (wouldLose: () => boolean, question = ABOUT_WORDS): void =>
  useBlocker({
    shouldBlockFn: ({ current, next }) =>
      wouldLose() && formsOf(current) !== formsOf(next) && !window.confirm(question),
    enableBeforeUnload: wouldLose,
  });

/** The same for a form: `set` says whether something was typed that was not sent. */
export function useUnsaved(): { set(isUnsaved: boolean): void } {
  const isUnsaved = useRef(false);
  useLeaveQuestion(() => isUnsaved.current);
  return {
    set: (value) => {
      isUnsaved.current = value;
    },
  };
}
