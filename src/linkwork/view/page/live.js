// The channel to Python, where the page was opened by it: states come in, and go back when the
// user has moved something. Without it the page works on by itself.

const PAUSE = 1000 / 30; // ms between two states that are sent

export class Channel {
  constructor({ url, token, since }, app) {
    this.app = app;
    // Where the server's port is forwarded, the page's own address is the one that leads back
    this.url = location.protocol.startsWith("http") ? location.origin : url;
    this.token = token;
    this.page = Math.random().toString(36).slice(2);
    this.waiting = new Map();
    const query = new URLSearchParams({ token, since: since ?? 0, page: this.page });
    this.events = new EventSource(`${this.url}/events?${query}`);
    this.events.onmessage = (event) => this._take(JSON.parse(event.data));
    this.events.onopen = () => this._state("live", "Connected to Python");
    this.events.onerror = () => {
      if (!this.ended) this._state("lost", "Connection to Python lost: the page works on alone");
    };
    addEventListener("pagehide", () => this.events.close());
  }

  /** Tell Python of a configuration, at most 30 times a second; `instant`: that at which objects are seen. */
  send(robot, q, instant) {
    if (this.ended) return;
    this.waiting.set(robot, { q: Array.from(q), instant });
    this._timer ??= setTimeout(() => {
      this._timer = undefined;
      for (const [index, state] of this.waiting) this._post({ robot: index, ...state, page: this.page });
      this.waiting.clear();
    }, PAUSE);
  }

  _post(state) {
    fetch(`${this.url}/state?token=${encodeURIComponent(this.token)}`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(state),
    }).catch(() => {}); // a lost connection is told by the stream of events
  }

  _take(message) {
    const { app } = this;
    if (message.type === "q") {
      if (message.page && app.motion.playing) return; // each page that plays goes its own way
      app.stopMotion();
      app.moved(app.robots[message.robot ?? 0], message.q, "python");
    } else if (message.type === "ghost") app.setGhost(app.robots[message.robot ?? 0], message.q);
    else if (message.type === "trajectory") app.setTrajectory(message);
    else if (message.type === "scene") app.setScene(message.scene, message.binary);
    else if (message.type === "touches") app.setTouches(message);
    else if (message.type === "replace") location.reload();
    else if (message.type === "close") {
      this.ended = true;
      this.events.close();
      this._state("lost", "Python has ended: the page works on alone");
    }
  }

  _state(kind, text) {
    this.app.setChannelState(kind, text);
  }
}
