//! SIGKILL at any moment of story (a), and a new start: the same end, the same single victim, evicted once.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use crate::harness::{KillAt, OURS, PodSpec, Priority, Proxy, World, condition, is_leaving, say};

use Priority::{High, Low};

/// Runs of each lane; with four lanes a hundred in all.
const RUNS: usize = 25;
/// How long a victim takes to end, so that there is something to be killed in.
const EXIT: Duration = Duration::from_millis(150);
/// No run needs as many writes.
const TOO_MANY: usize = 40;

/// The first quarter of a hundred kills at seeded delays.
pub async fn lane_1_killed_at_any_time(world: &World) -> Result<()> {
    at_seeded_delays(world, 1).await
}

/// The second.
pub async fn lane_2_killed_at_any_time(world: &World) -> Result<()> {
    at_seeded_delays(world, 2).await
}

/// The third.
pub async fn lane_3_killed_at_any_time(world: &World) -> Result<()> {
    at_seeded_delays(world, 3).await
}

/// The fourth.
pub async fn lane_4_killed_at_any_time(world: &World) -> Result<()> {
    at_seeded_delays(world, 4).await
}

/// Killed when a write is about to go out, for each write in turn.
pub async fn before_each_write(world: &World) -> Result<()> {
    at_every_write(world, KillAt::Before).await
}

/// Killed when a write is done and nobody has heard of it, for each write in turn.
pub async fn after_each_write(world: &World) -> Result<()> {
    at_every_write(world, KillAt::After).await
}

async fn at_seeded_delays(world: &World, lane: u64) -> Result<()> {
    let seed: u64 = match std::env::var("E2E_SEED") {
        Ok(text) => text.parse().context("E2E_SEED")?,
        Err(_) => u64::from_str_radix(&world.suite.run, 16)?,
    };
    say(&format!("crash: lane {lane} with E2E_SEED={seed}"));
    let mut random = SplitMix(seed.wrapping_mul(4).wrapping_add(lane));
    let story = Story::begin(world).await?;

    // One run without a kill: how long there is something to interrupt.
    let started = std::time::Instant::now();
    let whole = story.prepare(0).await?;
    let scheduler = world.spawn_scheduler(Some(&story.proxy.address))?;
    story.ends_well(&whole, scheduler).await?;
    let window = started.elapsed().mul_f64(1.2);

    for run in 1..=RUNS {
        let delay = window.mul_f64(random.fraction());
        let names = story.prepare(run).await?;
        let scheduler = world.spawn_scheduler(Some(&story.proxy.address))?;
        tokio::time::sleep(delay).await;
        scheduler.kill().await?;
        story.proxy.settled().await;
        let again = world.spawn_scheduler(Some(&story.proxy.address))?;
        story
            .ends_well(&names, again)
            .await
            .with_context(|| format!("run {run}: killed after {delay:?}, seed {seed}"))?;
    }
    Ok(())
}

async fn at_every_write(world: &World, moment: fn(usize) -> KillAt) -> Result<()> {
    let story = Story::begin(world).await?;
    for n in 1..TOO_MANY {
        let names = story.prepare(n).await?;
        let mut scheduler = world.spawn_scheduler(Some(&story.proxy.address))?;
        story.proxy.arm(Some((scheduler.pid()?, moment(n))));
        let reached = loop {
            if story.proxy.has_killed() {
                break true;
            }
            // It has done all it will do: this story has fewer writes than n.
            if story.is_over(&names) {
                world.quiet().await;
                break story.proxy.has_killed();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        };
        story.proxy.arm(None);
        let what = format!("killed at {:?}, after {:?}", moment(n), story.proxy.writes());
        if !reached {
            ensure!(n > 3, "the whole story took only {} writes", n - 1);
            say(&format!("crash: {:?} and before, all interrupted", moment(n - 1)));
            return story.ends_well(&names, scheduler).await.context(what);
        }
        scheduler.killed().await?;
        story.proxy.settled().await;
        let again = world.spawn_scheduler(Some(&story.proxy.address))?;
        story.ends_well(&names, again).await.context(what)?;
    }
    anyhow::bail!("it never comes to rest: {:?}", story.proxy.writes())
}

/// Story (a) at an eighth, with a bystander that a second, needless eviction would hit.
struct Story<'a> {
    world: &'a World,
    node: String,
    proxy: Proxy,
}

struct Names {
    low: String,
    high: String,
    bystander: String,
}

impl<'a> Story<'a> {
    async fn begin(world: &'a World) -> Result<Self> {
        let node = world.node("n1", 1000).await?;
        world.kubelet.exits_take(EXIT);
        let proxy = Proxy::start(&world.suite.kubeconfig(None, None)?).await?;
        Ok(Self { world, node, proxy })
    }

    /// A full node whose high Pod is Deferred; no scheduler runs.
    async fn prepare(&self, run: usize) -> Result<Names> {
        let names = Names {
            low: format!("low-{run}"),
            high: format!("high-{run}"),
            bystander: format!("bystander-{run}"),
        };
        let (world, node) = (self.world, &self.node);
        let (low, high, bystander) = tokio::join!(
            world.run(PodSpec::new(&names.low, Low).cpu(375).on(node)),
            world.run(PodSpec::new(&names.high, High).cpu(500).on(node)),
            world.run(PodSpec::new(&names.bystander, Low).cpu(100).on(node)),
        );
        low.and(high).and(bystander)?;
        world.resize_deferred(&names.high, 750).await?;
        Ok(names)
    }

    /// Whether the growing Pod has its room and nobody has anything more to say about it.
    fn is_over(&self, names: &Names) -> bool {
        let seen = self.world.observer.now();
        let Some(high) = seen.pods.get(&names.high) else { return false };
        crate::harness::allocated_cpu(high) == 750
            && condition(high, OURS).is_none()
            && !seen.pods.contains_key(&names.low)
    }

    /// The end that an undisturbed run has too. Takes the Pods away for the next one.
    async fn ends_well(&self, names: &Names, mut scheduler: crate::harness::Scheduler) -> Result<()> {
        let world = self.world;
        scheduler.ready().await?;
        world.allocated(&names.high, 750).await?;
        world.gone(&names.low).await?;
        world.says_nothing_more(&names.high).await?;
        let bystander = world.get(&names.bystander)?;
        ensure!(!is_leaving(&bystander), "a second victim: {}", names.bystander);
        let eviction = format!("POST /api/v1/namespaces/{}/pods/{}/eviction 201", world.namespace, names.low);
        let evictions = self.proxy.writes().iter().filter(|write| **write == eviction).count();
        ensure!(evictions == 1, "the victim was evicted {evictions} times");
        scheduler.stop().await?;
        for name in [&names.high, &names.bystander] {
            world.delete(name).await?;
            world.gone(name).await?;
        }
        Ok(())
    }
}

/// SplitMix64: a seed is enough to repeat a run.
struct SplitMix(u64);

impl SplitMix {
    /// In [0, 1).
    fn fraction(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}
