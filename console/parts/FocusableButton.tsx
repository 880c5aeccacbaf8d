import type { ComponentProps } from "react";

interface Props extends Omit<ComponentProps<"button">, "disabled"> {
  type: "button" | "submit";
  /** Clicks, and Enter in a field of its form, do nothing, because the action is running or there is nothing left to do. */
  isOff: boolean;
}

/** A button that keeps the focus while it is off. The attribute `disabled` would remove the focus for good. */
export const FocusableButton = ({ isOff, onClick, ...rest }: Props) => (
  <button
    {...rest}
    aria-disabled={isOff || undefined}
    onClick={(event) => {
      if (isOff) event.preventDefault();
      else onClick?.(event);
    }}
  />
);
