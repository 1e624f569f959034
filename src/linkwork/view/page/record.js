// Recording: the page draws pictures by itself, and hands each to the server that it came from.
//
// Nobody looks at it meanwhile: nothing of it is put together on a screen.

/** Draw the first robot at each of its configurations, one picture after another, and hand them on. */
export async function record(app, wanted, live) {
  const { stage, robots: [robot] } = app;
  const { size: [width, height], samples, background, box, form } = wanted;
  try {
    stage.fixSize(width, height, samples);
    stage.fit(new THREE.Box3(new THREE.Vector3(...box[0]), new THREE.Vector3(...box[1])));
    stage.look(app.page.options.camera);
    await Promise.all(app.robots.map((each) => each.view.textured()));
    const canvas = new OffscreenCanvas(width, height);
    const paper = canvas.getContext("2d", { willReadFrequently: true });
    paper.imageSmoothingQuality = "high";
    let sent = null;
    for (const [number, q] of wanted.q.entries()) {
      app.placeObjects(Object.fromEntries(Object.entries(wanted.objects).map(([name, all]) => [name, all[number]])));
      robot.q = Float64Array.from(q);
      robot.view.moveTo(robot.q);
      stage.shadowsOf(app.box());
      stage.frame();
      paper.clearRect(0, 0, width, height);
      if (background) {
        paper.fillStyle = background;
        paper.fillRect(0, 0, width, height);
      }
      paper.drawImage(stage.canvas, 0, 0, width, height);
      const picture = form === "png"
        ? await canvas.convertToBlob({ type: "image/png" })
        : paper.getImageData(0, 0, width, height).data;
      await sent; // one is on its way while the next is drawn
      sent = post(live, "picture", picture, { number });
    }
    await sent;
    await say(live, { done: true });
  } catch (error) {
    await recordingFailed(live, error);
  }
  close();
}

/** Tell of what went wrong: nothing more will come. */
export function recordingFailed(live, error) {
  return say(live, { failed: String(error?.message ?? error) }).catch(() => {});
}

const say = (live, word) => post(live, "state", new Blob([JSON.stringify(word)], { type: "application/json" }));

async function post({ token }, what, body, query = {}) {
  const answer = await fetch(`/${what}?${new URLSearchParams({ token, ...query })}`, { method: "POST", body });
  if (!answer.ok) throw new Error(await answer.text());
}
