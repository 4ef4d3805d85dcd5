import type { ComponentProps } from "react";
import styles from "./Switch.module.css";

interface Props extends ComponentProps<"input"> {
  label?: string;
}

/** Switch is on or off. It is a plain checkbox, because a list draws a hundred of them at once. */
export function Switch({ label, ...input }: Props) {
  return (
    <label className={styles.switch}>
      <input type="checkbox" role="switch" aria-checked={input.checked} {...input} />
      {label}
    </label>
  );
}
