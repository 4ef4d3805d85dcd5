/// <reference types="vite/client" />

interface ImportMetaEnv {
  readonly VITE_SIGNALBOX_URL: string;
  readonly VITE_SIGNALBOX_KEY: string;
}
